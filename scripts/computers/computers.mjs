// `@muster/muster/computers` of the package. The version is checked first: modules are evaluated in the order of their imports.
import './check-node.mjs';

export * from '../server/computers.mjs';
