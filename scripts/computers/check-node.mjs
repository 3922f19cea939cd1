// A Node that is too old must be able to read this file.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15))
  throw new Error(`@muster/muster/computers needs Node 24.15 or newer, this is ${process.version}.`);
