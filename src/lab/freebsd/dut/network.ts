// Reads the output of FreeBSD's ifconfig(8), netstat(1), arp(8) and ndp(8).

export type Interface = {
  name: string;
  flags: string[];
  /** Enabled offloads of the card: `RXCSUM`, `LRO`, … */
  options: string[];
  mtu: number;
  mac?: string;
  /** A description such as `Ethernet autoselect (10Gbase-SR <full-duplex>)`. */
  media?: string;
  /** Current speed of the link in Gbit/s; absent without a link. */
  gigabits?: number;
  isActive: boolean;
};

/** Reads `ifconfig INTERFACE`; undefined for any other text. */
export function parseIfconfig(text: string): Interface | undefined {
  const [, name, flags = '', mtu] = /^(\S+): flags=[0-9a-f]+<([^>]*)>.* mtu (\d+)/m.exec(text) ?? [];
  if (name === undefined) return undefined;
  const options = /^[ \t]+options=[0-9a-f]+<([^>]*)>/m.exec(text)?.[1] ?? '';
  const mac = /^[ \t]+ether (\S+)/m.exec(text)?.[1];
  const media = /^[ \t]+media: (.*\S)/m.exec(text)?.[1];
  const gigabits = gigabitsOf(media ?? '');
  return {
    name,
    flags: listed(flags),
    options: listed(options),
    mtu: Number(mtu),
    ...(mac !== undefined && { mac: mac.toLowerCase() }),
    ...(media !== undefined && { media }),
    ...(gigabits !== undefined && { gigabits }),
    isActive: /^[ \t]+status: active$/m.test(text),
  };
}

const listed = (names: string): string[] => names.split(',').filter(Boolean);

function gigabitsOf(media: string): number | undefined {
  const [start, end] = [media.indexOf('('), media.lastIndexOf(')')];
  const active = start !== -1 && start < end ? media.slice(start + 1, end) : media;
  const [, digits, giga] = /\b(\d+)(G?)base/i.exec(active) ?? [];
  if (digits === undefined) return undefined;
  return giga === '' ? Number(digits) / 1000 : Number(digits);
}

export type Route = { destination: string; gateway: string; flags: string; interface: string };

/** Reads `netstat -rn -f FAMILY` by its header. */
export function parseRoutes(text: string): Route[] {
  const rows = filledLines(text).map(words);
  const head = rows.findIndex(([first]) => first === 'Destination');
  const [destination = -1, gateway = -1, flags = -1, netif = -1] = ['Destination', 'Gateway', 'Flags', 'Netif'].map(
    (column) => (rows[head] ?? []).indexOf(column),
  );
  return rows
    .slice(head + 1)
    .filter((row) => head !== -1 && row.length > netif)
    .map((row) => ({
      destination: row[destination] ?? '',
      gateway: row[gateway] ?? '',
      flags: row[flags] ?? '',
      interface: row[netif] ?? '',
    }));
}

/** A static entry is permanent; a resolved one expires. */
export type Neighbour = { address: string; mac?: string; interface: string; isPermanent: boolean };

export function parseArp(text: string): Neighbour[] {
  const lines = text.matchAll(/^\S+ \((\S+)\) at (\S+) on (\S+)( permanent)?/gm);
  return [...lines].map(([, address = '', mac = '', name = '', permanent]) =>
    neighbour(address, mac, name, permanent !== undefined),
  );
}

export function parseNdp(text: string): Neighbour[] {
  return filledLines(text)
    .map(words)
    .filter(([first = '']) => first.includes(':'))
    .map(([address = '', mac = '', name = '', expires]) => neighbour(address, mac, name, expires === 'permanent'));
}

/** An unresolved address has `(incomplete)` as its MAC address. */
const neighbour = (address: string, mac: string, name: string, isPermanent: boolean): Neighbour => ({
  address,
  ...(mac.includes(':') && { mac: mac.toLowerCase() }),
  interface: name,
  isPermanent,
});

/** Drops empty lines: megabytes of them would become gigabytes of arrays. */
const filledLines = (text: string): string[] => text.split('\n').filter(Boolean);

const words = (line: string): string[] => line.trim().split(/\s+/);
