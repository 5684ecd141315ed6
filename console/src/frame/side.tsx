import { useState } from 'preact/hooks'
import { chosenTeam } from '../api.ts'
import { useStore } from '../observable.ts'
import { Link, usePath } from '../router.tsx'
import { type Place, places } from '../routes.ts'
import { chooseTeam, type Session, session, signOut } from '../session.ts'
import { chooseTheme, type Theme, theme, themes } from '../theme.ts'
import { Button, Doing, Status } from '../ui/basics.tsx'
import { Choice } from '../ui/forms.tsx'
import { Icon } from '../ui/icons.tsx'
import { words } from '../words.ts'
import { Brand } from './brand.tsx'

/** The pages that the session can reach. */
export const reachable = (who: Session | null | undefined) =>
  places
    .map((group) => ({
      ...group,
      of: group.of.filter((place) => isReachable(place, who)),
    }))
    .filter(({ of }) => of.length)

const isReachable = ({ org, sandbox, needs }: Place, who: Session | null | undefined) =>
  !(org && who?.kind === 'team') && !(sandbox && who?.environment !== 'sandbox') && (!needs || who?.capabilities.includes(needs))

export function Side() {
  const who = useStore(session)
  const path = usePath()
  const isHere = (to: string) => (to === '/' || to === '/organisation' ? path === to : path === to || path.startsWith(`${to}/`))
  return (
    <>
      <Link class="brand" to="/">
        <Brand />
        Assay
      </Link>
      <TeamChoice />
      {reachable(who).map(({ title, of }) => (
        <nav key={title ?? 'main'} aria-label={title ?? 'Main'}>
          {title && <h2>{title}</h2>}
          <ul>
            {of.map(({ to, name, icon }) => (
              <li key={to}>
                <Link to={to} {...(isHere(to) ? { 'aria-current': 'page' } : {})}>
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      ))}
      <Foot />
    </>
  )
}

function TeamChoice() {
  const who = useStore(session)
  const team = useStore(chosenTeam)
  const [, draw] = useState(0)
  // Whoever stays after all is shown the team again that is still chosen.
  const choose = (id: string) => {
    chooseTeam(id)
    draw((n) => n + 1)
  }
  if (!who) return null
  return (
    <div class="team-choice stack tight">
      <div class="row between">
        <span class="small muted ellipsis" title={who.org.name}>
          {who.org.name}
        </span>
        <Status tone={who.environment === 'sandbox' ? 'info' : 'good'}>{`${words(who.environment)} ${who.region.toUpperCase()}`}</Status>
      </div>
      {who.teams.length > 1 ? (
        <Choice label="Team" value={team ?? ''} onChoose={choose} options={who.teams.map(({ team_id, name }) => [team_id, name])} />
      ) : (
        <strong class="ellipsis">{who.teams[0]?.name}</strong>
      )}
    </div>
  )
}

function Foot() {
  const who = useStore(session)
  const shown = useStore(theme)
  const next = themes[(themes.indexOf(shown) + 1) % themes.length] as Theme
  return (
    <div class="foot">
      <div class="row between">
        <a class="row small muted" href="/docs">
          <Icon name="docs" /> Documentation
        </a>
        <Button
          kind="plain"
          class="icon"
          aria-label={`Colours: ${shown}. Change to ${next}`}
          title={`Colours: ${shown}`}
          onClick={() => chooseTheme(next)}
        >
          <Icon name={shown === 'auto' ? 'auto' : shown === 'dark' ? 'moon' : 'sun'} />
        </Button>
      </div>
      <div class="row between">
        <Link class="small ellipsis" to="/account" title="My account">
          {nameOf(who)}
        </Link>
        <Doing kind="plain" small act={signOut}>
          Sign out
        </Doing>
      </div>
    </div>
  )
}

const nameOf = (who: Session | null | undefined) =>
  who?.person?.email ?? (who?.kind === 'management' ? 'Management key' : who?.kind === 'team' ? 'Team key' : '')
