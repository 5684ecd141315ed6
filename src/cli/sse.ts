type StreamBlock = { id?: string; data?: string }

/** Yields the blocks of a stream of server-sent events as they arrive, without comments. */
export async function* readBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamBlock> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parseBlock(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function parseBlock(text: string): StreamBlock {
  const block: StreamBlock = {}
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(id|data): ?(.*)$/s.exec(line) ?? []
    if (name === 'id' || name === 'data') block[name] = value
  }
  return block
}
