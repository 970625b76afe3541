/*
 * A plugin for QEMU's TCG (7.2 or later) that counts the instructions a guest executes, in all and by address, in a file
 * that others map. Debian ships no header for it: what is used is declared here, as docs/devel/tcg-plugins.rst of QEMU
 * describes it.
 *
 * The file begins with the number of all instructions; after 64 bytes comes a slot of 16 bytes for each block of code
 * that was translated: its address, and how many instructions were executed in it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef void (*translated_t)(qemu_plugin_id_t, struct qemu_plugin_tb *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated_t);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op, void *,
                                              uint64_t);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

#define VISIBLE __attribute__((visibility("default")))

struct slot {
	uint64_t address, instructions;
};

/* The last slot is for all blocks that find no other. */
enum { SLOTS = 1 << 20, BYTES = 64 + SLOTS * sizeof(struct slot) };

VISIBLE int qemu_plugin_version = 1;

static uint64_t *total;
static struct slot *slots;

/* A block that is translated again counts on in the slot of its address. */
static struct slot *
slot_of(uint64_t address)
{
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

static void
translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	uint64_t instructions = qemu_plugin_tb_n_insns(block);
	struct slot *slot = slot_of(qemu_plugin_tb_vaddr(block));

	(void)id;
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
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
