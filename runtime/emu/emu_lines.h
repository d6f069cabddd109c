/* SPDX-License-Identifier: Apache-2.0 */
/* emu_lines.h - which line of its source a place in a compiled kernel belongs to.
 *
 * Read from DWARF 4 as g++ -g1 writes it: the line table, and which functions were folded into others where.
 * The object is the compiler's, made from a stranger's source: everything is bounds-checked.
 */
#ifndef RUNTIME_EMU_LINES_H
#define RUNTIME_EMU_LINES_H

#include <stddef.h>
#include <stdint.h>

typedef struct PmEmuLines PmEmuLines;

/* Reads the tables of an object of n bytes. Returns owned; one that knows no place when there are none. */
PmEmuLines *pm__emu_lines_read(const void *object, size_t n);
void pm__emu_lines_free(PmEmuLines *l);
/* The line of place `pc`, counted from where the object begins, in *column the column (0 = not known) and in
 * *file (of l, or "") the file. A place in a function of another file that was folded into one of the file
 * called `own`, or of a part of it
 * ("OWN|PART"), has the line there from which that function is called. 0 = not known. */
int pm__emu_lines_find(const PmEmuLines *l, uint64_t pc, const char *own, const char **file, int *column);

#endif
