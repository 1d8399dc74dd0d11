# CPack runs this when all files of a package are in place. rpmbuild lowers newer times to that of the last commit but does
# not raise older ones, so packages of an old working tree and of a fresh clone would differ: make all files new.
file(GLOB_RECURSE entries LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
file(TOUCH ${entries})
