// A configuration of two testbeds, for events on both at once; never connected to.

const rack = (name: string): string => `
  ${name}:
    kind: linux
    sender: { host: ${name}-tx, interface: tx0, cpu: 0 }
    dut: { host: ${name}-dut, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: ${name}-rx, interface: rx0 }`;

/** Text of ppsgate.yml, to which a test can append. */
export const twoRacks = `testbeds:${rack('left')}${rack('right')}\n`;
