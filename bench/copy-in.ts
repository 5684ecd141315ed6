import pg from 'pg'

type Wire = { query(text: string): void; sendCopyFromChunk(piece: Buffer): void; endCopyFrom(): void }

/** Runs COPY … FROM STDIN, which the driver does not implement. The data is sent when the server is ready. */
export async function copyIn(url: string, statement: string, pieces: Buffer[]) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await new Promise<void>((resolve, reject) => {
      let failed: Error | undefined
      client.query({
        submit: (wire: Wire) => wire.query(statement),
        handleCopyInResponse: (wire: Wire) => {
          for (const piece of pieces) wire.sendCopyFromChunk(piece)
          wire.endCopyFrom()
        },
        handleCommandComplete: () => {},
        handleError: (error: Error) => {
          failed = error
        },
        handleReadyForQuery: () => (failed ? reject(failed) : resolve()),
      } as unknown as pg.Submittable)
    })
  } finally {
    await client.end()
  }
}
