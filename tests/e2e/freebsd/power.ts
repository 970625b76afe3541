// Power switch of the DUT of lab-of-guests.ts: `power.ts SOCKET on|off|state` prints `on` or `off`.
import { connect } from 'node:net';

const [, , path = '', word = 'state'] = process.argv;
const socket = connect(path);
socket.write(`${word}\n`);
socket.pipe(process.stdout);
