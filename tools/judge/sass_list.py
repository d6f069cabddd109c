#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass_list.py - machine instructions of cubins against integrity/cubin/sass.def, and of changed PTX against the gate.

  sass_list.py FOLDER...                        counts instructions by number; names rows that sass.def lacks
  sass_list.py --oracle NVDISASM FOLDER...      also reads constants, local addresses and special registers as
                                                nvdisasm prints them, and compares with the fields that the gate reads
  sass_list.py --ptx N GATE NVDISASM FOLDER     changes N texts of the folder's PTX, assembles them with ptxas, has
                                                GATE (tests/unit/integrity/test_sass_rows) judge them, and looks with nvdisasm
                                                whether an accepted one reaches what it may not

FOLDER holds .cubin (and .ptx) files, such as the cache of a test run (BUILD/test-cache/nvrtc). Ends with 1 when something is
missing, different or accepted wrongly. Known machines: those of pm__sass_reads.
"""
import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ARCHS = (80, 86, 89, 90)
LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*/\*\s*0x([0-9a-f]{16})\s*\*/")
REST = re.compile(r"^\s+/\*\s*0x([0-9a-f]{16})\s*\*/")


def arch_of(data):
    flags = struct.unpack_from("<I", data, 48)[0]
    return flags >> 8 & 255 if data[8] >= 8 else flags & 255


def sections(data):
    table, = struct.unpack_from("<Q", data, 40)
    n, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(n)]
    for r in rows:
        at = rows[names][4] + r[0]
        yield data[at:data.index(b"\0", at)].decode("latin1"), r[4], r[5]


def code(data):
    """(section, place, low, high) of every instruction."""
    for name, at, size in sections(data):
        if name.startswith(".text."):
            for i in range(0, size - 15, 16):
                yield (name, i) + struct.unpack_from("<QQ", data, at + i)


def known_rows(path):
    rows = set()
    for line in open(path):
        m = re.match(r"SASS_ALU\(0x(\w+)", line)
        if m:
            rows |= {int(m[1], 16) | form << 9 for form in range(1, 8)}
        m = re.match(r"SASS\(0x(\w+)", line)
        if m:
            rows.add(int(m[1], 16))
    return rows


def cubins(folders):
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".cubin"):
                path = os.path.join(folder, name)
                data = open(path, "rb").read()
                if data[:4] == b"\x7fELF" and arch_of(data) in ARCHS:
                    yield path, data


def printed(nvdisasm, path):
    """(section, place, text, low, high) as nvdisasm has it."""
    out = subprocess.run([nvdisasm, "-hex", "-c", path], capture_output=True, text=True)
    if out.returncode:
        raise OSError(out.stderr.strip()[:200])
    section = last = None
    for line in out.stdout.splitlines():
        m = re.match(r"\s*\.section\s+(\.text\.[^,\s]+)", line)
        if m:
            section = m[1]
        m = LINE.match(line)
        if m:
            last = (section, int(m[1], 16), m[2].rstrip(" ;"), int(m[3], 16))
        elif last and REST.match(line):
            yield last + (int(REST.match(line)[1], 16),)
            last = None


def number(text):
    return int(text, 16)


def differs(text, low, high):
    """What the fields say otherwise than the text, or None."""
    op = low & 0xFFF
    word = low | high << 64
    field = lambda at, n: word >> at & (1 << n) - 1
    m = re.search(r"c\[(0x\w+)\]\[(?:(U?R\w+)\+?)?(-?0x\w+)?\]", text)
    if m:
        at = number(m[3]) & 0xFFFF if m[3] else 0
        mine = field(38, 16) if op in (0xB82, 0xAB9, 0xABB) else field(40, 14) * 4
        if (field(54, 5), mine) != (number(m[1]), at):
            return "constant"
        if m[2] and m[2] not in ("RZ", "URZ") and op not in (0xB82, 0xABB):
            return "index"
    elif (op >> 9 in (3, 5)) and op & 0x1FF < 0x114:
        return "form"
    m = re.search(r"\b(?:LDL|STL)\S* .*?\[(?:(R\w+))?(?:\+?U?R\w+)?\+?(-?0x\w+)?\]", text)
    if m:
        at = field(40, 24)
        at -= (at & 1 << 23) << 1
        if at != (number(m[2]) if m[2] else 0) or field(24, 8) != (255 if m[1] in (None, "RZ") else int(m[1][1:])):
            return "local"
    return None


def forbidden(text, sizes, arch):
    """What an accepted instruction may not do, by its text."""
    m = re.search(r"c\[(0x\w+)\]\[(?:(U?R\w+)\+?)?(-?0x\w+)?\]", text)
    if "cx[" in text:
        return "a bank from a register"
    if m:
        bank, at = number(m[1]), number(m[3]) if m[3] else 0
        if m[2] not in (None, "RZ", "URZ") and bank not in (2, 3):
            return "an index"
        base = 0x210 if arch == 90 else 0x160
        if bank == 0 and (at >= sizes[0] or 0x30 <= at < 0x114 or (arch < 90 and 0x120 <= at < base)):
            return "bank 0 beside the parameters"
        if bank not in sizes or at < 0 or at >= sizes[bank]:
            return "a bank beyond its end"
    if re.search(r"\b(?:LDL|STL)\S* .*?\[(?:-?0x|RZ|\])", text):
        return "local memory by number"
    if re.search(r"SR_(CLOCK|GLOBALTIMER|VIRT|PM|SNAP|HWTASK|ORDERING|MACHINE|ESR)", text):
        return "a clock or the hardware"
    if re.search(r"\b(JMP|JMX|BRXU|JMXU|LEPC|NANOSLEEP|BPT|GETLMEMBASE|SETLMEMBASE|PMTRIG|TEX|SULD|SUST|CCTLL|KILL|"
                 r"CALL\.ABS|RET\.ABS)\b", text):
        return "an instruction"
    return None


def list_rows(folders, nvdisasm):
    known = known_rows(os.path.join(os.path.dirname(__file__), "../../integrity/cubin/sass.def"))
    seen, wrong, n_files, n_compared = collections.Counter(), 0, 0, 0
    for path, data in cubins(folders):
        n_files += 1
        for _, _, low, _ in code(data):
            seen[low & 0xFFF] += 1
        if nvdisasm:
            for section, at, text, low, high in printed(nvdisasm, path):
                n_compared += 1
                why = differs(text, low, high)
                if why:
                    wrong += 1
                    print(f"{path} {section} 0x{at:x}: {why}: {text}")
    for op, n in sorted(seen.items()):
        print(f"0x{op:03x} {n}{'' if op in known else ' MISSING'}")
    missing = len(set(seen) - known)
    print(f"{n_files} cubins, {sum(seen.values())} instructions of {len(seen)} numbers, {missing} missing; "
          f"{n_compared} compared with nvdisasm, {wrong} different")
    return missing + wrong > 0 or not n_files


ATTACKS = ("ld.param.u32 {r}, [{p}+{n}];", "ld.const.u32 {r}, [{n}];", "ld.local.u32 {r}, [{n}];",
           "st.local.u32 [{n}], {r};", "mov.u32 {r}, %clock;", "mov.u32 {r}, %smid;", "mov.u32 {r}, %globaltimer_lo;",
           "nanosleep.u32 {n};", "trap;", "{{ .reg .b64 a; cvt.u64.u32 a, {r}; ld.local.u32 {r}, [a]; }}",
           "{{ .reg .b64 a; cvt.u64.u32 a, {r}; ld.const.u32 {r}, [a+{n}]; }}",
           "{{ .reg .b64 a; cvt.u64.u32 a, {r}; ld.param.u32 {r}, [a+{n}]; }}",
           "{{ .local .align 4 .b8 d[16]; .reg .b64 a; mov.b64 a, d; ld.local.u32 {r}, [a+{n}]; }}",
           "mov.u32 {r}, %tid.x;", "mov.u32 {r}, %laneid;", "mov.u32 {r}, %pm0;", "mov.u32 {r}, %warpid;")


def changed(rng, text):
    """A number, register, opcode or line exchanged, or a line of the list above put in."""
    lines = text.split("\n")
    body = [i for i, s in enumerate(lines) if s.startswith("\t") and s.rstrip().endswith(";") and ".param ." not in s
            and ".reg" not in s]
    if not body:
        return text
    for _ in range(rng.randint(1, 3)):
        i = rng.choice(body)
        kind = rng.randrange(5)
        if kind == 0:
            lines[i] = re.sub(r"\b\d+\b", lambda m: str(rng.choice((0, 4, 64, 4096, 65536, -4, 1 << 20))), lines[i], count=1)
        elif kind == 1:
            lines[i], k = lines[rng.choice(body)], i
        elif kind == 2:
            lines[i] = re.sub(r"\+(\d+)\]", lambda m: f"+{rng.choice((-16, 128, 512, 4096, 65536))}]", lines[i])
        else:
            registers = re.findall(r"%r\d+", text)
            names = re.findall(r"\[(\w+_param_\d+)\]", text)
            if registers and names:
                lines[i] += "\n\t" + rng.choice(ATTACKS).format(r=rng.choice(registers), p=rng.choice(names),
                                                             n=rng.choice((0, 16, 256, 512, 4096, 65536)))
    return "\n".join(lines)


def fuzz(count, gate, nvdisasm, folder):
    rng = random.Random(16)
    texts = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".ptx")]
    texts = [f for f in texts if os.path.getsize(f) < 60000 and int(re.search(r"sm_(\d+)", open(f).read())[1]) in ARCHS]
    holes = built = n_accepted = 0
    with tempfile.TemporaryDirectory() as out:
        for i in range(count):
            path = os.path.join(out, f"{i}.ptx")
            text = open(rng.choice(texts)).read()
            arch = re.search(r"\.target sm_(\d+)", text)[1]
            open(path, "w").write(changed(rng, text))
            built += not subprocess.run(["ptxas", "-arch=sm_" + arch, path, "-o", path[:-3] + "cubin"],
                                        capture_output=True).returncode
        verdicts = subprocess.run([gate], env=dict(os.environ, PASSMITH_CUBINS=out), capture_output=True, text=True).stdout
        for line in verdicts.splitlines():
            if not line.startswith("accepted "):
                continue
            n_accepted += 1
            path = os.path.join(out, line.split()[1])
            data = open(path, "rb").read()
            size = {name: n for name, _, n in sections(data)}
            for section, at, text, _, _ in printed(nvdisasm, path):
                own = section[len(".text."):]
                sizes = {0: size.get(".nv.constant0." + own, 0), 3: size.get(".nv.constant3", 0),
                         2: size.get(".nv.constant2." + own, size.get(".nv.constant2", 0)), 4: size.get(".nv.constant4", 0)}
                why = forbidden(text, sizes, arch_of(data))
                if why:
                    holes += 1
                    print(f"{line.split()[1]} {section} 0x{at:x}: {why}: {text}")
    print(f"{count} texts, {built} assembled, {n_accepted} accepted, {holes} holes")
    return holes > 0 or not n_accepted


def main(args):
    if len(args) == 5 and args[0] == "--ptx":
        return fuzz(int(args[1]), *args[2:])
    if len(args) > 2 and args[0] == "--oracle":
        return list_rows(args[2:], args[1])
    if args and not args[0].startswith("-"):
        return list_rows(args, None)
    print(__doc__)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
