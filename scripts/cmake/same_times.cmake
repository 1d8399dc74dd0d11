# CPack runs this when all files of a package are in place. rpmbuild lowers times to that of the last commit and raises
# none, so a package of a working tree with older files would differ from one of a fresh clone: make all of them new.
file(GLOB_RECURSE entries LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
file(TOUCH ${entries})
