import { describe, expect, it } from 'vitest';
import { readProxies } from './proxies.ts';

const proxiesOf = (variables: Readonly<Record<string, string>>) => readProxies((name) => variables[name]);
const BOTH = { HTTPS_PROXY: 'http://proxy.test:3128', HTTP_PROXY: 'http://plain.test:3128' };

describe('the proxy for a request', () => {
  it('is none where no variable names one', () => {
    expect(proxiesOf({ NO_PROXY: 'example.com' })).toBeUndefined();
  });

  it('is that of its protocol, in capitals before small letters, and http: where no scheme is written', () => {
    const proxyFor = proxiesOf({ ...BOTH, https_proxy: 'http://other.test:1' });

    expect(proxyFor?.('https://ec2.us-west-2.amazonaws.com/')).toBe('http://proxy.test:3128');
    expect(proxyFor?.('http://api.test/')).toBe('http://plain.test:3128');
    expect(proxiesOf({ https_proxy: 'proxy.test:3128' })?.('https://a.test/')).toBe('http://proxy.test:3128');
    expect(proxiesOf({ https_proxy: 'proxy.test:3128' })?.('http://a.test/')).toBeUndefined();
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/latest',
    'http://169.254.170.2/v2/credentials',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://localhost:8080/',
    'http://127.0.0.53/',
    'https://[::1]:6443/',
  ])('is never asked for %s, whatever NO_PROXY says', (url) => {
    expect(proxiesOf(BOTH)?.(url)).toBeUndefined();
  });

  it.each([
    ['example.com', 'https://example.com/', 'https://notexample.com/'],
    ['.example.com', 'https://a.example.com/', 'https://example.org/'],
    ['*.example.com', 'https://a.b.example.com/', 'https://example.org/'],
    ['10.0.0.0/8, 192.168.7.7', 'https://10.1.2.3:6443/', 'https://192.168.7.8/'],
    ['kube.test:6443', 'https://kube.test:6443/', 'https://kube.test/'],
    ['fd12::/16', 'https://[fd12::1]:6443/', 'https://[fd13::1]:6443/'],
  ])('with NO_PROXY %s is none for %s, and one for %s', (noProxy, straight, through) => {
    const proxyFor = proxiesOf({ ...BOTH, NO_PROXY: noProxy });

    expect(proxyFor?.(straight)).toBeUndefined();
    expect(proxyFor?.(through)).toBe('http://proxy.test:3128');
  });

  it('is none for anything where NO_PROXY is *', () => {
    expect(proxiesOf({ ...BOTH, NO_PROXY: '*' })?.('https://a.test/')).toBeUndefined();
  });

  it('that cannot be an address is refused by its variable, without its text', () => {
    expect(() => proxiesOf({ HTTPS_PROXY: 'ftp://user:secret@proxy' })).toThrow(
      'HTTPS_PROXY is not the address of a proxy.',
    );
  });
});
