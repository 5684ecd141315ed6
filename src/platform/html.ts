/** Text that is already HTML. */
export type Html = { readonly html: string }

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeText = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character] as string)

type Piece = Html | string | number | null | undefined | false | Piece[]

const render = (piece: Piece): string => {
  if (piece === null || piece === undefined || piece === false) return ''
  if (Array.isArray(piece)) return piece.map(render).join('')
  return typeof piece === 'object' ? piece.html : escapeText(String(piece))
}

/** A template tag that escapes every value, except HTML built with the tag itself. */
export const html = (parts: TemplateStringsArray, ...pieces: Piece[]): Html => ({
  html: parts.map((part, i) => part + (i < pieces.length ? render(pieces[i]) : '')).join(''),
})
