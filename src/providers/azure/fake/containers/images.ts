// What the registries of the simulated world have.

/** With the login that a private one wants. */
export const IMAGES: readonly (readonly [
  string,
  { readonly username: string; readonly password: string } | undefined,
])[] = [
  ['velda.azurecr.io/muster-agent:1.2.0', undefined],
  ['velda.azurecr.io/private:1.2.0', { username: 'velda', password: 'planted-registry-password' }],
  ['mcr.microsoft.com/azuredocs/aci-helloworld:latest', undefined],
];

/** The registry of an image, as a login names it. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : 'index.docker.io';
}
