import { pageText } from './blocks.ts'
import { withLocalAddresses } from './session.ts'

/** The shell helpers that the quick start saves, for the pages that load them. */
export function shellHelpers(addresses: Record<string, string>) {
  const [, text] = /^cat > data\/helpers\.sh <<'END'\n([\s\S]*?\n)END$/m.exec(pageText('docs/quick-start.md')) ?? []
  if (!text) throw new Error('docs/quick-start.md does not save data/helpers.sh')
  return withLocalAddresses(text, addresses)
}
