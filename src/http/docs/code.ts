import { type Html, html } from '../../platform/html.ts'
import { highlight } from './highlight.ts'

/** Renders a fenced block. After the language, the fence may hold settings for the tests of the examples: `file=receiver.py`, `status=400`. */
export function codeBox(code: string, info = ''): Html {
  const [language] = info.split(' ')
  const file = /\bfile=(\S+)/.exec(info)?.[1]
  const isOutput = language === 'text' || /\bstatus=/.test(info)
  return html`<div class="code${isOutput && ' output'}">${file && html`<p class="file">${file}</p>`}<pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>`
}
