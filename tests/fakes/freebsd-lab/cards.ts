// Network cards as listed by pciconf(8).
import type { Interface } from './machine.ts';

export type CardName = 'T540-CR' | 'T580-LP-CR' | 'ConnectX-4' | 'I350' | 'virtio';

type Card = {
  /** Driver that pciconf names; it attaches to a card's function. */
  driver: string;
  /** True if each port is a PCI function; otherwise one function has all ports. */
  isFunctionPerPort: boolean;
  vendor: { id: string; name: string };
  device: { id: string; name: string };
};

const chelsio = { id: '0x1425', name: 'Chelsio Communications Inc' };

const cards: Readonly<Record<CardName, Card>> = {
  'T540-CR': {
    driver: 't5nex',
    isFunctionPerPort: false,
    vendor: chelsio,
    device: { id: '0x5403', name: 'T540-CR Unified Wire Ethernet Controller' },
  },
  'T580-LP-CR': {
    driver: 't5nex',
    isFunctionPerPort: false,
    vendor: chelsio,
    device: { id: '0x540d', name: 'T580-LP-CR Unified Wire Ethernet Controller' },
  },
  'ConnectX-4': {
    driver: 'mlx5_core',
    isFunctionPerPort: true,
    vendor: { id: '0x15b3', name: 'Mellanox Technologies' },
    device: { id: '0x1013', name: 'MT27700 Family [ConnectX-4]' },
  },
  I350: {
    driver: 'igb',
    isFunctionPerPort: true,
    vendor: { id: '0x8086', name: 'Intel Corporation' },
    device: { id: '0x1521', name: 'I350 Gigabit Network Connection' },
  },
  virtio: {
    driver: 'virtio_pci',
    isFunctionPerPort: true,
    vendor: { id: '0x1af4', name: 'Red Hat, Inc.' },
    device: { id: '0x1000', name: 'Virtio network device' },
  },
};

/** Text of `pciconf -lv`, for each function of the cards behind these interfaces. */
export function describeCards(interfaces: readonly Interface[], hasNames: boolean): string {
  const functions = new Map(interfaces.map((one) => [functionOf(one), cards[one.card]]));
  const texts = [...functions].map(([name, { vendor, device }], index) => {
    const ids = `vendor=${vendor.id} device=${device.id} subvendor=${vendor.id} subdevice=0x0000`;
    const names = hasNames ? [`    vendor     = '${vendor.name}'`, `    device     = '${device.name}'`] : [];
    const line = `${name}@pci0:${index + 3}:0:0:\tclass=0x020000 rev=0x00 hdr=0x00 ${ids}`;
    return [line, ...names, '    class      = network', '    subclass   = ethernet', ''].join('\n');
  });
  return texts.join('');
}

const functionOf = ({ name, card }: Interface): string =>
  `${cards[card].driver}${cards[card].isFunctionPerPort ? /\d+$/.exec(name) : 0}`;
