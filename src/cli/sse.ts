export type Told = { id?: string; data?: string }

/** The blocks of a stream of server-sent events, as they come. Comments are left out. */
export async function* blocksOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Told> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parsed(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function parsed(block: string): Told {
  const told: Told = {}
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(id|data): ?(.*)$/.exec(line) ?? []
    if (name === 'id' || name === 'data') told[name] = value
  }
  return told
}
