/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - where texts lie that are read while the program runs. */
#ifndef EXEMPLAR_FOLDER_H
#define EXEMPLAR_FOLDER_H

#include "base/core/err.h"
#include "base/core/str.h"

/* Appends the path of the folder `name` ("prompts", "docs/guide"): in the source folder and in a bundle it
 * lies in `root`, of an installation (root is PREFIX/lib/passmith) in PREFIX/share/passmith, and what begins
 * with "docs/" in PREFIX/share/doc/passmith. root NULL = that of pm_root_dir. PM_E_NOT_FOUND when it is at
 * neither place. */
PmStatus pm_text_folder(const char *root, const char *name, PmStr *out, PmErr *err);

#endif
