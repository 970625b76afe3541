// What FreeBSD's ifconfig(8), netstat(1), arp(8) and ndp(8) say of a host's network, read from their output.

export type Interface = {
  name: string;
  /** `UP`, `RUNNING`, … */
  flags: string[];
  /** What is switched on of the card's offloads: `RXCSUM`, `LRO`, … */
  options: string[];
  mtu: number;
  mac?: string;
  /** As printed: `Ethernet autoselect (10Gbase-SR <full-duplex>)`. */
  media?: string;
  /** Speed of the link as it is, in Gbit/s; absent where there is none. */
  gigabits?: number;
  isActive: boolean;
};

/** Reads `ifconfig INTERFACE`; undefined where the text is none of it. */
export function parseIfconfig(text: string): Interface | undefined {
  const [, name, flags = '', mtu] =
    /^(\S+): flags=[0-9a-f]+<([^>]*)>.* mtu (\d+)/m.exec(text) ?? [];
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

/** What was negotiated stands in parentheses where it is not what was chosen. The names are those of ifmedia(4). */
function gigabitsOf(media: string): number | undefined {
  const [start, end] = [media.indexOf('('), media.lastIndexOf(')')];
  const active = start !== -1 && start < end ? media.slice(start + 1, end) : media;
  const [, digits, giga] = /\b(\d+)(G?)base/i.exec(active) ?? [];
  if (digits === undefined) return undefined;
  return giga === '' ? Number(digits) / 1000 : Number(digits);
}

export type Route = { destination: string; gateway: string; flags: string; interface: string };

/** Reads `netstat -rn -f FAMILY`; the columns are those of its header. */
export function parseRoutes(text: string): Route[] {
  const rows = filledLines(text).map(words);
  const head = rows.findIndex(([first]) => first === 'Destination');
  const [destination = -1, gateway = -1, flags = -1, netif = -1] = [
    'Destination',
    'Gateway',
    'Flags',
    'Netif',
  ].map((column) => (rows[head] ?? []).indexOf(column));
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

/** A static entry is permanent; one that the host resolved itself expires. */
export type Neighbour = { address: string; mac?: string; interface: string; isPermanent: boolean };

/** Reads `arp -an`. */
export function parseArp(text: string): Neighbour[] {
  const lines = text.matchAll(/^\S+ \((\S+)\) at (\S+) on (\S+)( permanent)?/gm);
  return [...lines].map(([, address = '', mac = '', name = '', permanent]) =>
    neighbour(address, mac, name, permanent !== undefined),
  );
}

/** Reads `ndp -an`. */
export function parseNdp(text: string): Neighbour[] {
  return filledLines(text)
    .map(words)
    .filter(([first = '']) => first.includes(':'))
    .map(([address = '', mac = '', name = '', expires]) =>
      neighbour(address, mac, name, expires === 'permanent'),
    );
}

/** One that is being resolved is `(incomplete)`. */
const neighbour = (
  address: string,
  mac: string,
  name: string,
  isPermanent: boolean,
): Neighbour => ({
  address,
  ...(mac.includes(':') && { mac: mac.toLowerCase() }),
  interface: name,
  isPermanent,
});

/** A table of words is made of them, which of megabytes of empty lines would be gigabytes. */
const filledLines = (text: string): string[] => text.split('\n').filter(Boolean);

const words = (line: string): string[] => line.trim().split(/\s+/);
