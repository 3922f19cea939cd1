// What `bin/muster` of a package or an image runs. A Node that is too old must be able to read this file.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(
    `muster: Node 24.15 or newer is needed, this is ${process.version}. Install a newer Node, or Muster's archive for ${process.platform}-${process.arch}, which has its own.`,
  );
  process.exit(1);
}
await import('./main.mjs');
