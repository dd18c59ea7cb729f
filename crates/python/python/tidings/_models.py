"""Finds the models of the package ``tidings-models``, which has the languages that this one does not contain."""

import os
from importlib.util import find_spec

# The variable that the program reads when it first needs a model.
_FOLDERS = "TIDINGS_MODELS"


def use_installed_models() -> None:
    """Names the folder of the installed models, unless the user has chosen folders."""
    spec = find_spec("tidings_models")
    if spec is not None and spec.submodule_search_locations and _FOLDERS not in os.environ:
        os.environ[_FOLDERS] = os.pathsep.join(spec.submodule_search_locations)
