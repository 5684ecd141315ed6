import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

const DEBOUNCE_MS = 250

export function useDebounced(text: string) {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

type SearchFieldProps = { text: string; label: string; placeholder: string; onSearch: (text: string) => void }

/** Searches once typing pauses. Leaving the page cancels a pending search. */
export function SearchField({ text, label, placeholder, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const trimmed = typed.trim()
  // The field keeps a trailing space, because the next word may follow.
  useEffect(() => {
    if (trimmed !== text) setTyped(text)
  }, [text])
  // A layout effect, because the cleanup of other effects runs late: the search of a person who signs out would reach the next one.
  useLayoutEffect(() => {
    if (trimmed === text) return
    const timer = setTimeout(() => onSearch(trimmed), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [trimmed])
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
