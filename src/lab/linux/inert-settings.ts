// Names settings that cannot act on the interfaces of a running DUT: base and patched would be measured as equal.

/** Returns the reason, which continues the setting's path; undefined for a setting that acts. */
export const whyInert = (path: string): string | undefined =>
  ofNewInterfaces.test(path) ? 'affects only interfaces that are created later' : undefined;

/** `net.ipv4.conf.default` may reach an existing interface, but only settings of it that were never written. */
const ofNewInterfaces =
  /^net\/(?:core\/(?:default_qdisc|rps_default_mask|devconf_inherit_init_net|fb_tunnels_only_for_init_net)|(?:ipv4|ipv6|mpls)\/conf\/default\/.*)$/;
