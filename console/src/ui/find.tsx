import { useEffect, useState } from 'preact/hooks'

const TYPED = 250

/** What was typed, once the typing pauses. */
export function usePaused(text: string) {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), TYPED)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

type FindProps = { text: string; label: string; placeholder: string; onFind: (text: string) => void }

/** Asks once the typing pauses, and not any more when the page was left before. */
export function Find({ text, label, placeholder, onFind }: FindProps) {
  const [typed, setTyped] = useState(text)
  const wanted = typed.trim()
  // A space at the end is the beginning of the next word, so it stays although nobody is asked for it.
  useEffect(() => {
    if (wanted !== text) setTyped(text)
  }, [text])
  useEffect(() => {
    if (wanted === text) return
    const timer = setTimeout(() => onFind(wanted), TYPED)
    return () => clearTimeout(timer)
  }, [wanted])
  return (
    <input
      type="search"
      class="input search"
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      autocomplete="off"
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  )
}
