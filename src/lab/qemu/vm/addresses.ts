// By which addresses guests, and what stands at the other ends of their wires, know each other.

/** The controller's end of the cable by which guests are controlled; link-local, so that nothing but this machine can ever be meant. */
export const controllerAddress = '169.254.74.1';
/** The other end, where each guest's sshd has a port. */
export const wireAddress = '169.254.74.2';

export const guestAddress = '169.254.74.15';

/**
 * Options of QEMU's `-netdev user`: its own network of a guest, in which the guest's address is the one that DHCP gives, too.
 * Connections come from the controller's address, for which QEMU answers there: so a guest has a way back that knows its own
 * network alone, as one does that is named no router.
 */
export const guestNetwork = `net=169.254.74.0/24,host=${controllerAddress},dhcpstart=${guestAddress}`;

/** Each guest has its own wires, so that all have the same addresses; guests name their cards by them. */
export const guestMac = {
  management: '02:70:70:00:00:00',
  ingress: '02:70:70:00:00:01',
  egress: '02:70:70:00:00:02',
};

/** MAC and IP addresses at the other ends of a guest's two wires. */
export const senderMac = '02:70:70:00:ff:01';
export const receiverMac = '02:70:70:00:ff:02';

// RFC 2544's and RFC 5180's benchmarking networks.
export const guestPorts = {
  ingress: { inet4: '198.18.0.1', inet6: '2001:2::1' },
  egress: { inet4: '198.19.0.1', inet6: '2001:2:0:8000::1' },
};
export const neighbours = {
  sender: { inet4: '198.18.0.2', inet6: '2001:2::2' },
  receiver: { inet4: '198.19.0.2', inet6: '2001:2:0:8000::2' },
};
