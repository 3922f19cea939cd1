import { describe, expect, it } from 'vitest';
import { readTrace, traceColumns } from './trace-file.ts';

const read = (text: string, columns?: string) =>
  readTrace('jobs.csv', text, columns === undefined ? undefined : traceColumns(columns));

describe('a trace', () => {
  it('has a session a row, by seconds or by dates, with its slots', () => {
    expect(read('name,submitted,seconds,slots\na,10,2.5,\n"b, ""2""",12,3,4\r\n')).toEqual([
      { submitted: 10, seconds: 2.5 },
      { submitted: 12, seconds: 3, slots: 4 },
    ]);
    expect(read('submitted,ended\n2026-01-01T00:00:00Z,2026-01-01 00:01:00\n')).toEqual([
      { submitted: Date.UTC(2026, 0, 1) / 1_000, seconds: 60 },
    ]);
  });

  it('reads the columns that are named, and leaves out rows that never began or never ended', () => {
    const text = 'created,deleted,n\n1,5,2\n2,,1\n,9,1\n8,7,1\n';

    expect(read(text, 'submitted=created, ended=deleted,slots=n')).toEqual([{ submitted: 1, seconds: 4, slots: 2 }]);
  });

  it('names the columns that it found where one is missing, and the nearest of a mistyped one', () => {
    expect(() => read('creation_time,deletion_time\n1,2\n')).toThrow(
      expect.objectContaining({
        message: 'jobs.csv has no column submitted; it has creation_time, deletion_time.',
        remedy: expect.stringContaining('--columns submitted=creation_time'),
      }),
    );
    expect(() => read('submitted,until\n1,2\n')).toThrow('has no column seconds or ended; it has submitted, until');
    expect(() => read('creation_time,ended\n1,2\n', 'submitted=creation_tme')).toThrow(
      expect.objectContaining({ remedy: 'Did you mean creation_time?' }),
    );
    expect(() => traceColumns('submited=a')).toThrow(expect.objectContaining({ remedy: 'Did you mean submitted?' }));
    expect(() => traceColumns('submitted=')).toThrow('names no column');
  });

  it('names the line and the column of what is no number', () => {
    expect(() => read('submitted,seconds\n1,2\n3,soon\n')).toThrow(
      expect.objectContaining({ message: 'jobs.csv: "soon" is neither seconds nor a date', at: 'line 3, seconds' }),
    );
    expect(() => read('submitted,seconds\n1767225600000,2\n')).toThrow('is it milliseconds?');
    expect(() => read('submitted,seconds\n1,"2\n')).toThrow(expect.objectContaining({ at: 'line 2' }));
  });
});
