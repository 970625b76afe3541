/* A module that a guest loads at boot, and what then goes wrong with it: ACCIDENT is one of those below. */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>

enum accident {
	HARMLESS,
	PANIC_AT_BOOT,
	HANG_AT_BOOT,
	OOPS_UNDER_LOAD,
	HANG_UNDER_LOAD,
	LOSE_NETWORK,
	FORWARD_NOTHING,
	FILL_DISK,
	HUNDRED_INSTRUCTIONS,
	CACHE_MISSES,
};

/* Before the last of some windows. */
#define PACKETS_BEFORE 5000

static atomic_t packets = ATOMIC_INIT(0);

static noinline void hang_for_ever(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

/* Far more than caches hold. */
#define FAR_BYTES (64ul << 20)
static u8 *far;

/* Executes few instructions, and waits for memory in each. */
static noinline void miss_caches(u32 seed)
{
	int i;

	for (i = 0; i < 8; i++) {
		seed = seed * 1664525 + 1013904223;
		seed += far[seed % FAR_BYTES];
	}
	WRITE_ONCE(far[0], seed);
}

static noinline void execute_hundred(void)
{
	int i;

	for (i = 0; i < 33; i++)
		asm volatile("nop");
}

static unsigned int seen(void *unused, struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (ACCIDENT == FORWARD_NOTHING && state->in && strcmp(state->in->name, "ppsgate-in") == 0)
		return NF_DROP;
	if (ACCIDENT == HUNDRED_INSTRUCTIONS)
		execute_hundred();
	if (ACCIDENT == CACHE_MISSES)
		miss_caches(atomic_read(&packets));
	if (atomic_inc_return(&packets) < PACKETS_BEFORE)
		return NF_ACCEPT;
	if (ACCIDENT == OOPS_UNDER_LOAD)
		*(volatile int *)8 = 0;
	if (ACCIDENT == HANG_UNDER_LOAD)
		hang_for_ever();
	return ACCIDENT == LOSE_NETWORK ? NF_DROP : NF_ACCEPT;
}

static const struct nf_hook_ops hook = {
	.hook = seen,
	.pf = NFPROTO_IPV4,
	.hooknum = NF_INET_PRE_ROUTING,
	.priority = NF_IP_PRI_FIRST,
};

static int fill(void *unused)
{
	static char zeros[4096];
	struct file *file = filp_open("/run/fill", O_WRONLY | O_CREAT, 0600);
	loff_t at = 0;

	if (IS_ERR(file))
		return 0;
	while (kernel_write(file, zeros, sizeof(zeros), &at) > 0)
		cond_resched();
	return 0;
}

static int __init accident_init(void)
{
	if (ACCIDENT == PANIC_AT_BOOT)
		panic("accident of a patch");
	if (ACCIDENT == HANG_AT_BOOT)
		hang_for_ever();
	if (ACCIDENT == CACHE_MISSES) {
		far = vmalloc(FAR_BYTES);
		if (!far)
			return -ENOMEM;
		memset(far, 1, FAR_BYTES);
	}
	if (ACCIDENT == FILL_DISK)
		kthread_run(fill, NULL, "fill");
	return nf_register_net_hook(&init_net, &hook);
}

module_init(accident_init);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Goes wrong on purpose");
