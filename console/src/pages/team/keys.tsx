import { Head } from '../../ui/head.tsx'

export const TeamKeys = () => <Head title="TeamKeys" />
