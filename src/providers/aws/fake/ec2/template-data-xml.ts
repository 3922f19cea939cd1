import type { Params } from '../wire/params.ts';
import { NamedMembers, type Xml } from '../wire/xml.ts';

// Lists have other names in answers than in calls.
const LISTS: Readonly<Record<string, string>> = {
  TagSpecification: 'tagSpecificationSet',
  Tag: 'tagSet',
  NetworkInterface: 'networkInterfaceSet',
  BlockDeviceMapping: 'blockDeviceMappingSet',
  SecurityGroupId: 'securityGroupIdSet',
  SecurityGroup: 'securityGroupSet',
  LicenseSpecification: 'licenseSet',
};

const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

const inOrder = ({ under }: Params): Params[] =>
  [...under].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, member]) => member);

function valueXml(params: Params): Xml {
  return params.under.size === 0 ? params.text : templateDataXml(params);
}

const isInterfaces = (name: string): boolean => name === 'NetworkInterface';

/** Groups of an interface are the one list whose names depend on where it stands. */
const groupSet = (groups: Params): Xml =>
  new NamedMembers(
    'groupId',
    inOrder(groups).map(({ text }) => text ?? ''),
  );

/** What a template was given, in the names of an answer. */
export function templateDataXml(data: Params, isInterface = false): Xml {
  return Object.fromEntries(
    [...data.under].map(([name, value]): [string, Xml] => {
      if (isInterface && name === 'SecurityGroupId') return ['groupSet', groupSet(value)];
      const list = LISTS[name];
      if (list === undefined) return [lowerFirst(name), valueXml(value)];
      return [list, inOrder(value).map((one) => (isInterfaces(name) ? templateDataXml(one, true) : valueXml(one)))];
    }),
  );
}
