// Network cards as listed by pciconf(8).
import type { Interface } from './machine.ts';

export type CardName = 'T540-CR' | 'T580-LP-CR' | 'ConnectX-4' | 'I350' | 'virtio';

type Card = { driver: string; ids: string; vendor: string; device: string };

const chelsio = { driver: 't5nex', vendor: 'Chelsio Communications Inc' };

const cards: Readonly<Record<CardName, Card>> = {
  'T540-CR': { ...chelsio, ids: 'vendor=0x1425 device=0x5403', device: 'T540-CR Unified Wire Ethernet Controller' },
  'T580-LP-CR': {
    ...chelsio,
    ids: 'vendor=0x1425 device=0x540d',
    device: 'T580-LP-CR Unified Wire Ethernet Controller',
  },
  'ConnectX-4': {
    driver: 'mlx5_core',
    ids: 'vendor=0x15b3 device=0x1013',
    vendor: 'Mellanox Technologies',
    device: 'MT27700 Family [ConnectX-4]',
  },
  I350: {
    driver: 'igb',
    ids: 'vendor=0x8086 device=0x1521',
    vendor: 'Intel Corporation',
    device: 'I350 Gigabit Network Connection',
  },
  virtio: {
    driver: 'virtio_pci',
    ids: 'vendor=0x1af4 device=0x1000',
    vendor: 'Red Hat, Inc.',
    device: 'Virtio network device',
  },
};

/** Text of `pciconf -lv`, for each function of the cards behind these interfaces. */
export function describeCards(interfaces: readonly Interface[], hasNames: boolean): string {
  const functions = new Map(interfaces.map((one) => [functionOf(one), cards[one.card]]));
  const texts = [...functions].map(([name, { ids, vendor, device }], index) => {
    const names = hasNames ? [`    vendor     = '${vendor}'`, `    device     = '${device}'`] : [];
    const line = `${name}@pci0:${index + 3}:0:0:\tclass=0x020000 rev=0x00 hdr=0x00 ${ids} subvendor=0x0000 subdevice=0x0000`;
    return [line, ...names, '    class      = network', '    subclass   = ethernet', ''].join('\n');
  });
  return texts.join('');
}

/** One function has all ports of a Chelsio card. */
const functionOf = ({ name, card }: Interface): string =>
  `${cards[card].driver}${cards[card].driver === 't5nex' ? 0 : /\d+$/.exec(name)}`;
