import { expect, test } from 'vitest';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { type FreebsdLabOptions, startFreebsdLab } from './lab.ts';

/** Returns the DUT's output. */
async function asked(command: ReturnType<typeof shell>, options: FreebsdLabOptions = {}): Promise<string> {
  await using lab = await startFreebsdLab(options);
  await using dut = await connect(lab.dut.target);
  return await dut.output(command);
}

test('the processor is the one that was ordered', async () => {
  const hardware = { 'hw.model': 'Intel(R) Atom(TM) CPU  C2558  @ 2.40GHz', 'hw.ncpu': '4' };
  expect(await asked(shell`sysctl -n hw.model hw.ncpu`, { hardware })).toBe(
    'Intel(R) Atom(TM) CPU  C2558  @ 2.40GHz\n4\n',
  );
});

test('a card is listed once, or once a port, as its driver attaches', async () => {
  const ports = [
    { name: 'cxl0', card: 'T580-LP-CR' },
    { name: 'cxl1', card: 'T580-LP-CR' },
    { name: 'mce0', card: 'ConnectX-4' },
  ] as const;
  const text = await asked(shell`pciconf -lv`, { cabling: { senders: 2, ports } });
  expect(text.match(/^\w+(?=@)/gm)).toEqual(['t5nex0', 'mlx5_core0', 'igb0']);
  expect(text).toContain("    device     = 'MT27700 Family [ConnectX-4]'\n");
});

test('ports are named as ordered, and only Chelsio ones have a second name for netmap', async () => {
  await using lab = await startFreebsdLab({
    cabling: {
      ports: [
        { name: 'mce0', card: 'ConnectX-4', far: { name: 'cxl0', card: 'T580-LP-CR' } },
        { name: 'igb3', card: 'I350' },
      ],
    },
  });
  expect([...lab.cabling.entries, lab.cabling.exit]).toEqual(['mce0', 'igb3']);
  const [sender] = lab.cabling.senders;
  expect([sender?.interface, lab.cabling.receiver.interface]).toEqual(['vcxl0', 'igb3']);
});

test('a port of cxgbe(4) has the queues of the loader', async () => {
  const loaderConf = { 'hw.cxgbe.nrxq10g': '4' };
  expect(await asked(shell`sysctl -n dev.cxl.1.nrxq dev.cxl.1.ntxq`, { loaderConf })).toBe('4\n8\n');
});

test('a port of mlx5en(4) has a channel for each CPU, or those of the loader', async () => {
  const ports = [
    { name: 'mce0', card: 'ConnectX-4' },
    { name: 'mce1', card: 'ConnectX-4' },
  ] as const;
  const loaderConf = { 'dev.mce.1.conf.channels': '6' };
  const command = shell`sysctl -n dev.mce.0.conf.channels dev.mce.1.conf.channels`;
  expect(await asked(command, { cabling: { ports }, loaderConf })).toBe('8\n6\n');
});

test('every thread of a sender keeps the whole of its rate', async () => {
  await using lab = await startFreebsdLab({ truth: () => 5e6 });
  await using generator = await connect(lab.receiver.target);
  const [sender] = lab.cabling.senders;
  const { stderr } = await generator.run(
    shell`timeout -s INT 8 pkt-gen -N -f tx -i vcxl0 -w 4 -p 3 -R 1000000 -D ${sender?.dutMac ?? ''} -d 198.19.10.1 -s 198.18.10.1`,
  );
  expect(stderr).toMatch(/ 300\d{4} pps /);
});

test('kenv sets how ipfw treats packets before it is loaded', async () => {
  await using lab = await startFreebsdLab({
    loaderConf: { 'net.inet.ip.fw.default_to_accept': '0' },
  });
  await using dut = await connect(lab.dut.target);
  const name = 'net.inet.ip.fw.default_to_accept';
  expect(await dut.output(shell`kenv ${`${name}=1`}`)).toBe(`${name}="1"\n`);
  expect(await dut.output(shell`kenv ${name}`)).toBe('1\n');
  await dut.output(shell`kldload ipfw`);
  expect(lab.state().scenario).toBe('ipfw-stateless');
  expect(await dut.run(shell`kenv no.such`)).toMatchObject({
    code: 255,
    stderr: 'kenv: unable to get no.such\n',
  });
});

test('ipfw that is switched off lets packets pass by', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`kldload ipfw`);
  await dut.output(shell`sysctl net.inet.ip.fw.enable=0`);
  expect(lab.state().scenario).toBe('forwarding');
});
