/*
 * Stands in for a QEMU that loads a plugin: plugin-host MIN MAX PLUGIN ARGUMENT, of which MIN and MAX are the versions of
 * the interface that it takes. Reads runs of blocks, a line each, and has the plugin translate and execute them:
 *
 *   FIRST STEP BLOCKS INSTRUCTIONS TIMES
 *
 * FIRST is an address in hexadecimal, and STEP the distance of the next.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct qemu_plugin_tb {
	uint64_t address;
	size_t instructions;
	/* What is done whenever it is executed: a callback, and so many additions. */
	void (*callback)(unsigned int, void *);
	void *data;
	int additions;
	struct {
		uint64_t *to, number;
	} addition[4];
};

static const uint64_t id = 0x8899aabbccddeeff;
static void (*translate)(void *, void *);
static void *of_translate;

void
qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, void (*callback)(void *, void *), void *data)
{
	if (plugin != id)
		abort();
	translate = callback;
	of_translate = data;
}

void
qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*callback)(unsigned int, void *), int flags,
                                     void *data)
{
	if (flags != 0)
		abort();
	block->callback = callback;
	block->data = data;
}

size_t
qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block)
{
	return block->instructions;
}

uint64_t
qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block)
{
	return block->address;
}

#if INTERFACE < 2
void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *to, uint64_t number)
{
	if (operation != 0 || block->additions == 4)
		abort();
	block->addition[block->additions].to = to;
	block->addition[block->additions++].number = number;
}
#endif

#if INTERFACE >= 6
void
qemu_plugin_set_pc(uint64_t address)
{
	(void)address;
}
#endif

static void
run(struct qemu_plugin_tb block, uint64_t times)
{
#if INTERFACE >= 7
	translate(&block, of_translate);
#else
	translate((void *)id, &block);
#endif
	while (times-- > 0) {
		if (block.callback != NULL)
			block.callback(0, block.data);
		for (int i = 0; i < block.additions; i++)
			*block.addition[i].to += block.addition[i].number;
	}
}

int
main(int argc, char **argv)
{
	void *plugin = argc == 5 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (plugin == NULL) {
		fprintf(stderr, "%s\n", argc == 5 ? dlerror() : "usage: plugin-host MIN MAX PLUGIN ARGUMENT");
		return 2;
	}
	int version = *(int *)dlsym(plugin, "qemu_plugin_version");
	if (version < atoi(argv[1]) || version > atoi(argv[2])) {
		fprintf(stderr, "it is of version %d\n", version);
		return 1;
	}
	int (*install)(uint64_t, const void *, int, char **);
	*(void **)&install = dlsym(plugin, "qemu_plugin_install");
	int refused = install(id, NULL, 1, argv + 4);
	if (refused != 0) {
		fprintf(stderr, "it answered %d\n", refused);
		return 1;
	}
	uint64_t first, step, blocks, instructions, times;
	while (scanf("%" SCNx64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &first, &step, &blocks, &instructions, &times) == 5) {
		for (uint64_t i = 0; i < blocks; i++)
			run((struct qemu_plugin_tb){.address = first + i * step, .instructions = instructions}, times);
	}
	return 0;
}
