import { describe, expect, it } from 'vitest';
import { awsFault } from './faults.ts';

const at = { action: 'ec2:RunInstances', region: 'us-west-2' };
const answered = (code: string, message = '', status = 400): object =>
  Object.assign(new Error(message), { name: code, Code: code, $metadata: { httpStatusCode: status } });

describe('an error of AWS', () => {
  it.each([
    ['InsufficientInstanceCapacity', 'exhausted'],
    ['Unsupported', 'exhausted'],
    ['VcpuLimitExceeded', 'quota'],
    ['MaxSpotInstanceCountExceeded', 'quota'],
    ['RequestLimitExceeded', 'throttled'],
    ['ThrottlingException', 'throttled'],
    ['InvalidLaunchTemplateName.NotFoundException', 'missing'],
    ['UnauthorizedOperation', 'denied'],
    ['AccessDeniedException', 'denied'],
    ['ExpiredToken', 'unauthenticated'],
    ['InvalidClientTokenId', 'unauthenticated'],
    ['IdempotentParameterMismatch', 'conflict'],
    ['InvalidParameterValue', 'invalid'],
    ['SomethingNew.NotFound', 'missing'],
    ['SomethingLimitExceeded', 'quota'],
    ['SomethingNew', 'invalid'],
  ])('%s is %s', (code, kind) => {
    expect(awsFault(answered(code), at).kind).toBe(kind);
  });

  it('with an unknown code is unclear where the server failed, and clear where we did', () => {
    expect(awsFault(answered('Odd', '', 503), at).kind).toBe('unavailable');
    expect(awsFault(answered('Odd', '', 429), at).kind).toBe('throttled');
    expect(awsFault(answered('Odd', '', 403), at).kind).toBe('denied');
  });

  it.each([200, 302, 408])(
    'that came as %i without a word of AWS is unclear: somebody else may have answered',
    (status) => {
      const unread = Object.assign(new SyntaxError('Unexpected token'), { $metadata: { httpStatusCode: status } });

      expect(awsFault(unread, at).kind).toBe('unavailable');
    },
  );

  it('names action, region, cause and remedy in one line', () => {
    const fault = awsFault(answered('VcpuLimitExceeded', 'You have\n requested more', 400), at);

    expect(fault.message).toBe('ec2:RunInstances in us-west-2 failed: VcpuLimitExceeded: You have requested more');
    expect(fault.remedy).toContain('Service Quotas');
  });

  it('names the right that is missing, and leaves out the encoded message', () => {
    const message = `You are not authorized to perform this operation. User: arn:x is not authorized to perform: iam:PassRole on resource: y. Encoded authorization failure message: ${'A'.repeat(900)}`;
    const fault = awsFault(answered('UnauthorizedOperation', message, 403), at);

    expect(fault.remedy).toBe("Allow the server's role the action iam:PassRole.");
    expect(fault.message).not.toContain('AAAA');
    expect(awsFault(answered('UnauthorizedOperation', 'No.', 403), at).remedy).toContain('ec2:RunInstances');
  });

  it('without an answer is unclear; a region without an address is named', () => {
    const cause = Object.assign(new Error('getaddrinfo ENOTFOUND ec2.us-wst-2.amazonaws.com'), { code: 'ENOTFOUND' });
    const fault = awsFault(new TypeError('fetch failed', { cause }), {
      action: 'ec2:DescribeInstances',
      region: 'us-wst-2',
    });

    expect(fault.kind).toBe('unavailable');
    expect(fault.message).toContain('getaddrinfo ENOTFOUND');
    expect(fault.remedy).toBe('Check the region: us-wst-2 has no such endpoint.');
  });

  it('about credentials says where they come from', () => {
    const none = Object.assign(new Error('Could not load credentials from any providers'), {
      name: 'CredentialsProviderError',
    });

    expect(awsFault(none, at).kind).toBe('unauthenticated');
    expect(awsFault(none, at).remedy).toContain('AWS_ACCESS_KEY_ID');
  });
});
