// Finds queues and drops among a card's own counters, whose names differ between drivers.

export type Direction = 'receive' | 'send';

export type QueueCounter = { direction: Direction; number: number };

/**
 * Drivers of Linux by `ethtool -S`: `rx_queue_0_packets` (igb, ixgbe, ice), `rx0_packets` (mlx5, virtio_net),
 * `rx-0.packets` (i40e), `[0]: rx_ucast_packets` (bnxt), `rxq0_packets`, `queue_0_rx_cnt` (ena).
 */
const queueNames = [
  /^(?<way>rx|tx)(?:_queue_|-|q|_)?(?<number>\d{1,4})[._](?:ucast_)?packets$/,
  /^\[(?<number>\d{1,4})\]: (?<way>rx|tx)_ucast_packets$/,
  /^queue_(?<number>\d{1,4})_(?<way>rx|tx)_cnt$/,
];

export function queueOf(name: string): QueueCounter | undefined {
  for (const pattern of queueNames) {
    const { way, number } = pattern.exec(name)?.groups ?? {};
    if (number !== undefined) {
      return { direction: way === 'rx' ? 'receive' : 'send', number: Number(number) };
    }
  }
  return undefined;
}

/** Counters of a whole card for packets that found no descriptor, no buffer or no space in it. */
const cardDrops: readonly (readonly [RegExp, string])[] = [
  [/^(rx_)?(no_dma_resources|no_desc\w*|out_of_buffer)$/, 'no descriptor'],
  [/^(rx_|recv_)?(no_buff\w*|nobuf\w*)$/, 'no buffer'],
  [
    /^(port\.)?(rx_)?(missed_?(errors|packets)?|ovflow\d|fifo_errors|over_errors|discards?(_phy|_pkts)?|discard_pkts)$/,
    'missed',
  ],
];

export const cardDropOf = (name: string): string | undefined => cardDrops.find(([pattern]) => pattern.test(name))?.[1];

/** Reads lines `name: number` of `ethtool -S` or sysctl(8), with whole numbers only. */
export function countersIn(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const line of text.split('\n').slice(0, maxLines)) {
    const [, name = '', digits = ''] = /^\s*(\S.{0,99}): (\d{1,16})\s*$/.exec(line) ?? [];
    const value = Number(digits);
    if (digits !== '' && Number.isSafeInteger(value)) counters.set(name.trim(), value);
  }
  return counters;
}

const maxLines = 20_000;
