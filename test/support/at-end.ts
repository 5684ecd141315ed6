type Cleanup = () => Promise<unknown>

const cleanups: Cleanup[] = []

/** Registers cleanup for the end of the test file, in reverse order. */
export const atEnd = (cleanup: Cleanup) => cleanups.push(cleanup)

export async function cleanUp() {
  while (cleanups.length) await cleanups.pop()?.()
}
