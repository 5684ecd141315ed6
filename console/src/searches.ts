import { store } from './observable.ts'

/** What is searched for may be a name, so it stays out of addresses and histories. */
export const searches = { orders: store(''), users: store('') }

export const forgetSearches = () => {
  for (const one of Object.values(searches)) one.set('')
}
