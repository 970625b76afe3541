// Ports and the cables between them.

export type Counters = { packets: number; bytes: number };

/** Port of a network card, with any interfaces. */
export type Port = {
  /** MAC addresses of its interfaces. */
  macs: readonly string[];
  received: Counters;
  /** Found no descriptor of the card. */
  missed: Counters;
  sent: Counters;
  cable?: Cable;
  /** Programs that have it open for netmap. */
  readonly users: Set<object>;
};

export type Cable = {
  ends: readonly [Port, Port];
  /** Time when its link is up again after a bounce, or a boot at one of its ends. */
  upAt: number;
  isDead: boolean;
};

export const port = (...macs: readonly string[]): Port => ({
  macs,
  received: { packets: 0, bytes: 0 },
  missed: { packets: 0, bytes: 0 },
  sent: { packets: 0, bytes: 0 },
  users: new Set(),
});

export function connectPorts(one: Port, other: Port): Cable {
  const cable: Cable = { ends: [one, other], upAt: 0, isDead: false };
  one.cable = cable;
  other.cable = cable;
  return cable;
}

export const farEnd = (port: Port): Port | undefined => port.cable?.ends.find((end) => end !== port);

export const isLinkUp = ({ cable }: Port, now: number): boolean =>
  cable !== undefined && !cable.isDead && now >= cable.upAt;

/** The link is down for at least this long. */
export function bounce({ cable }: Port, now: number, seconds: number): void {
  if (cable !== undefined) cable.upAt = Math.max(cable.upAt, now + seconds);
}

export function count(counters: Counters, packets: number, frameBytes: number): void {
  counters.packets += packets;
  counters.bytes += packets * frameBytes;
}
