// Addresses of guests, and of the other ends of their wires.

/** The controller's end of the control cable; link-local, so that only this machine can be reached. */
export const controllerAddress = '169.254.74.1';
export const wireAddress = '169.254.74.2';

export const guestAddress = '169.254.74.15';

/**
 * Options of QEMU's `-netdev user`, a network of one guest, in which DHCP assigns this address, too. Connections come
 * from the controller's address, for which QEMU replies there, so guests need no router for their replies.
 */
export const guestNetwork = `net=169.254.74.0/24,host=${controllerAddress},dhcpstart=${guestAddress}`;

/** All guests have the same addresses, each on its own wires; guests name their cards by them. */
export const guestMac = {
  management: '02:70:70:00:00:00',
  ingress: '02:70:70:00:00:01',
  egress: '02:70:70:00:00:02',
};

/** Names that `guest-init.sh` gives the cards. */
export const linuxGuestPorts = { ingress: 'ppsgate-in', egress: 'ppsgate-out' };

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
