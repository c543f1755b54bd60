"""What PyInstaller runs for programs that import pullback."""  # noqa: N999  # so does PyInstaller call it

from pullback.command.pyinstaller import data, modules

hiddenimports = modules()
datas = data()
module_collection_mode = "py"  # as files: the store of compiled programs compares the source
