// Run by `helm test`: the server is ready behind its Service, and its broker takes connections.
import { get } from 'node:https';
import { connect } from 'node:net';

const host = process.env.MUSTER_HOST;
const [TRY_EVERY_MS, TRY_FOR_MS] = [2_000, 120_000];

// The CA of the server is on its volume. This request carries no secret, so any certificate will do.
const ready = () =>
  new Promise((resolve, reject) => {
    const options = { host, port: 8081, path: '/readyz', rejectUnauthorized: false, timeout: TRY_EVERY_MS };
    const asked = get(options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`https://${host}:8081/readyz answered ${answer.statusCode}`));
    });
    asked.on('timeout', () => asked.destroy(new Error(`https://${host}:8081 did not answer`)));
    asked.on('error', reject);
  });

const broker = () =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port: 50051, timeout: TRY_EVERY_MS }, () => resolve(socket.destroy()));
    socket.on('timeout', () => socket.destroy(new Error(`${host}:50051 did not answer`)));
    socket.on('error', reject);
  });

for (const until = Date.now() + TRY_FOR_MS; ; ) {
  try {
    await ready();
    await broker();
    console.log(`The server is ready at https://${host}:8081, and agents reach ${host}:50051.`);
    break;
  } catch (error) {
    console.error(error.message);
    if (Date.now() > until) process.exit(1);
    await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS));
  }
}
