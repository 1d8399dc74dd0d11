"""PyTorch's torchrun, also if its store was built without libuv, as in Debian; the store works without it too.

torchrun.py TORCHRUN-ARGUMENT..."""

import torch.distributed


class Store(torch.distributed.TCPStore):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **{**options, "use_libuv": False})


torch.distributed.TCPStore = Store
from torch.distributed.run import main  # noqa: E402  pylint: disable=wrong-import-position

main()
