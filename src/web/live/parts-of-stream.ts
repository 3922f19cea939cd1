/** The texts between separators of a stream, each as soon as it is whole; ends when the stream ends or breaks. */
export async function* partsOfStream(body: ReadableStream<Uint8Array>, separator: string): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split(separator);
      text = parts.pop() ?? '';
      yield* parts;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
