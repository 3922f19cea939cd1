// Starts the computer, asks it for its health, and ends it: node run.ts [PORT]
import { MyCustomProvisioner } from './my-custom-provisioner.ts';

const computer = new MyCustomProvisioner(Number(process.argv[2] ?? 8000), 'hello', { log: console });
console.log(computer.getStatus());
try {
  await computer.setup();
  console.log(computer.getStatus(), await computer.isRunning());
} finally {
  await computer.teardown();
}
console.log(computer.getStatus(), await computer.isRunning());
