/* SPDX-License-Identifier: Apache-2.0 */
/* elf.h - reading a 64-bit ELF shared object without trusting it: program headers, dynamic table, symbols and
 * relocations, which is what a loader uses. Section headers are ignored.
 *
 * pm_elf_read checks every offset and size once; the accessors below then stay inside the file. All problems
 * are reported, not only the first, each as a complete sentence.
 */
#ifndef BASE_ELF_H
#define BASE_ELF_H

#include <stddef.h>
#include <stdint.h>

/* The machine (e_machine of <elf.h>) that this program was built for; EM_NONE for one that is not known. */
#if defined(__x86_64__)
#define PM_ELF_NATIVE 62 /* EM_X86_64 */
#elif defined(__aarch64__)
#define PM_ELF_NATIVE 183 /* EM_AARCH64 */
#else
#define PM_ELF_NATIVE 0
#endif

enum {
	PM_ELF_MAX_SEGMENTS = 16, /* PT_LOAD */
	PM_ELF_MAX_HEADERS = 64,  /* program headers of any kind */
	PM_ELF_MAX_DYNAMIC = 64,
	PM_ELF_MAX_SYMBOLS = 1 << 16,
	PM_ELF_MAX_RELOCS = 1 << 20,
	PM_ELF_MAX_SPAN = 64 << 20, /* bytes of memory from the first to the last loaded byte */
};

typedef struct PmElfSegment {
	uint64_t offset, vaddr, filesz, memsz;
	uint32_t flags; /* PF_R, PF_W, PF_X */
} PmElfSegment;

typedef struct PmElfDyn {
	int64_t tag;
	uint64_t value;
} PmElfDyn;

typedef struct PmElfSymbol {
	const char *name; /* borrowed from the file, terminated */
	uint64_t value, size;
	unsigned bind, type; /* STB_*, STT_* */
	int defined;
} PmElfSymbol;

typedef struct PmElfReloc {
	uint64_t offset; /* of the 8 bytes to fill in */
	uint64_t addend;
	uint32_t type, symbol;
} PmElfReloc;

/* What pm_elf_read found; everything in it lies inside `file`. */
typedef struct PmElf {
	const uint8_t *file;
	size_t len;
	PmElfSegment seg[PM_ELF_MAX_SEGMENTS];
	size_t n_segs;
	uint64_t span;                             /* loaded addresses are 0 .. span - 1 */
	uint32_t header_types[PM_ELF_MAX_HEADERS]; /* p_type of every program header, in order */
	uint32_t header_flags[PM_ELF_MAX_HEADERS];
	size_t n_headers;
	PmElfDyn dyn[PM_ELF_MAX_DYNAMIC]; /* without the end mark */
	size_t n_dyn;
	/* File offsets and counts. */
	uint64_t symtab, strtab, strsz;
	size_t n_symbols;
	uint64_t rela[2]; /* RELA, JMPREL */
	size_t n_rela[2];
} PmElf;

/* Gets one problem as a sentence without a final newline. */
typedef void PmElfSay(void *arg, const char *sentence);

/* Reads `file`; *out stays valid as long as it. Returns the number of problems; with any, *out is only good
 * for showing. The machine must be the one that this program runs on. */
int pm_elf_read(const void *file, size_t len, PmElf *out, PmElfSay *say, void *arg);

/* Symbol i < n_symbols (0 is the null symbol); relocation i of table t (0 or 1), i < n_rela[t]. */
void pm_elf_symbol(const PmElf *e, size_t i, PmElfSymbol *out);
void pm_elf_reloc(const PmElf *e, int t, size_t i, PmElfReloc *out);
/* The loaded segment that holds the addresses vaddr .. vaddr + n - 1 in memory, or NULL. */
const PmElfSegment *pm_elf_segment_at(const PmElf *e, uint64_t vaddr, uint64_t n);
/* The number of entries of this tag in the dynamic table; *value is the last one's. */
int pm_elf_dynamic(const PmElf *e, int64_t tag, uint64_t *value);

#endif
