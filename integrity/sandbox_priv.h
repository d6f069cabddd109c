/* sandbox_priv.h - the system call filter of the sandbox (private to integrity/). */
#ifndef INTEGRITY_SANDBOX_PRIV_H
#define INTEGRITY_SANDBOX_PRIV_H

/* Installs the filter for this process; 0, or -1 when the kernel has none. */
int pm__filter_install(void);

#endif
