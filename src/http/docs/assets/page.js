/** Nothing is shown as HTML that was text: every piece becomes a node of its own. */
export function element(tag, text, attributes = {}) {
  const made = document.createElement(tag)
  if (text) made.textContent = text
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  return made
}

/** Said aloud to whoever does not see the page. */
export function say(text) {
  document.getElementById('said').textContent = text
}
