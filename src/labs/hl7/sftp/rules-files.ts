export type ListedFile = { name: string; size: number; modified: number }

/** A file that was listed before: since when it has not changed, and until when it is left alone. */
export type KnownFile = ListedFile & { since: number; heldUntil: number }

type Choice = { now: number; settleMs: number; limit: number }

/** Names that programs give to files that they are still writing. */
const temporary = /^\.|\.(part|tmp|temp|filepart|partial|writing)$/i

/**
 * The files to read now, oldest first: those that have not changed for a while, because a lab may still be writing the others.
 * `known` replaces the earlier list. `isMore` and `isChanging` say whether others wait.
 */
export function chooseFiles(listed: ListedFile[], earlier: Map<string, KnownFile>, { now, settleMs, limit }: Choice) {
  const known = new Map<string, KnownFile>()
  for (const file of listed) {
    if (!file.size || temporary.test(file.name) || !isName(file.name)) continue
    const before = earlier.get(file.name)
    const isSame = before?.size === file.size && before.modified === file.modified
    known.set(file.name, isSame ? before : { ...file, since: now, heldUntil: 0 })
  }
  const waiting = [...known.values()].filter(({ heldUntil }) => heldUntil <= now)
  const ready = waiting.filter(({ since }) => now - since >= settleMs).sort((a, b) => a.modified - b.modified || (a.name < b.name ? -1 : 1))
  const chosen = ready.slice(0, limit)
  return { known, chosen, isMore: ready.length > chosen.length, isChanging: waiting.length > ready.length }
}

/** A name from a server must not lead to another folder. */
const isName = (name: string) => name.length <= 255 && !/[/\\\p{Cc}]/u.test(name)
