/*
 * Counts the instructions that a guest with one CPU executes, in total and by address, in a file that others map: a
 * plugin for QEMU's TCG (7.2 or later). Debian ships no header for it; declarations follow docs/devel/tcg-plugins.rst
 * of QEMU.
 *
 * The file begins with the total; after 64 bytes comes a slot of 16 bytes for each translated block of code: its
 * address, and its number of executed instructions. Firmware and userland, in the lower half, share the slot of address
 * 1.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*translated_t)(void *, void *);
typedef void (*executed_t)(unsigned int, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated_t, void *);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed_t, enum qemu_plugin_cb_flags,
                                          void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

/* In QEMU up to 8.2; its replacement in 9.0 can only add to QEMU's own memory. */
__attribute__((weak)) void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *,
                                                                    enum qemu_plugin_op, void *, uint64_t);
/* Exists from QEMU 11.0 on; never called. */
__attribute__((weak)) void qemu_plugin_set_pc(uint64_t);

#define VISIBLE __attribute__((visibility("default")))

/* Version of QEMU's plugin interface: at most 1 up to QEMU 8.2, then at least 2, and 7 from 11.1 on. */
VISIBLE int qemu_plugin_version;

/* QEMU reads the version after loading the plugin, and calls nothing before that. */
__attribute__((constructor)) static void
choose_version(void)
{
	if (qemu_plugin_register_vcpu_tb_exec_inline != NULL)
		qemu_plugin_version = 1;
	else
		qemu_plugin_version = qemu_plugin_set_pc == NULL ? 2 : 7;
}

struct slot {
	uint64_t address, instructions;
};

/* The last slot is for all blocks that find no other slot. */
enum { SLOTS = 1 << 20, BYTES = 64 + SLOTS * sizeof(struct slot) };

static uint64_t *total;
static struct slot *slots;

/* A block that is translated again keeps the slot of its address. */
static struct slot *
slot_of(uint64_t address)
{
	if (address >> 63 == 0)
		address = 1;
	uint64_t at = (address * 0x9e3779b97f4a7c15u) >> 44;

	for (int tries = 0; tries < 64; tries++) {
		struct slot *slot = &slots[(at + tries) & (SLOTS - 1)];
		if (slot == &slots[SLOTS - 1])
			continue;
		if (slot->address == 0)
			slot->address = address;
		if (slot->address == address)
			return slot;
	}
	return &slots[SLOTS - 1];
}

/* A block has at most 512 instructions, so one pointer holds their number and the slot's. */
enum { LENGTH_BITS = 12 };

static void
executed(unsigned int cpu, void *data)
{
	uint64_t instructions = (uintptr_t)data & ((1 << LENGTH_BITS) - 1);

	(void)cpu;
	*total += instructions;
	slots[(uintptr_t)data >> LENGTH_BITS].instructions += instructions;
}

/* QEMU 11.1 passes the block and our registered data; earlier versions the plugin's id and the block. */
static void
translated(void *first, void *second)
{
	struct qemu_plugin_tb *block = second == NULL ? first : second;
	uint64_t instructions = qemu_plugin_tb_n_insns(block);
	struct slot *slot = slot_of(qemu_plugin_tb_vaddr(block));

	if (qemu_plugin_register_vcpu_tb_exec_inline == NULL) {
		void *data = (void *)((uintptr_t)(slot - slots) << LENGTH_BITS | instructions);
		qemu_plugin_register_vcpu_tb_exec_cb(block, executed, QEMU_PLUGIN_CB_NO_REGS, data);
		return;
	}
	/* With QEMU 7.2, a callback would cost the guest a sixth more time for each packet. */
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, total, instructions);
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &slot->instructions,
	                                         instructions);
}

VISIBLE int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int file;

	(void)info;
	if (argc != 1 || strncmp(argv[0], "counts=", 7) != 0)
		return -1;
	file = open(argv[0] + 7, O_RDWR | O_CREAT | O_EXCL, 0644);
	if (file == -1 || ftruncate(file, BYTES) != 0)
		return -1;
	total = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (total == MAP_FAILED)
		return -1;
	slots = (struct slot *)((char *)total + 64);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	return 0;
}
