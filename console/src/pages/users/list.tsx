import { Head } from '../../ui/head.tsx'

export const Users = () => <Head title="Users" />
