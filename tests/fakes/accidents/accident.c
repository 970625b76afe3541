/* A module that a guest loads at boot: it counts packets, and writes through a null pointer at the one named FATAL. */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>

static atomic_t packets = ATOMIC_INIT(0);

static unsigned int seen(void *unused, struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (atomic_inc_return(&packets) == FATAL)
		*(volatile int *)8 = 0;
	return NF_ACCEPT;
}

static const struct nf_hook_ops hook = {
	.hook = seen,
	.pf = NFPROTO_IPV4,
	.hooknum = NF_INET_PRE_ROUTING,
	.priority = NF_IP_PRI_FIRST,
};

static int __init accident_init(void)
{
	return nf_register_net_hook(&init_net, &hook);
}

module_init(accident_init);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Goes wrong on purpose");
