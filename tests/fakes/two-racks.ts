// A configuration of two testbeds, for what happens on both at once; nothing of it is connected to.

const rack = (name: string): string => `
  ${name}:
    kind: linux
    sender: { host: ${name}-tx, interface: tx0, cpu: 0 }
    dut: { host: ${name}-dut, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: ${name}-rx, interface: rx0 }`;

/** Text of ppsgate.yml, to which more can be added. */
export const twoRacks = `testbeds:${rack('left')}${rack('right')}\n`;
