/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the program's version. It is part of the key under which results are stored: raise it when a
 * change alters what an evaluation gives (docs/reference/dataset.md, "What results are resumed for"). */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define PM_VERSION "0.4.16"

#endif
