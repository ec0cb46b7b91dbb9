/**
 * A call tree laid out as boxes: breadth first, so that a row is a contiguous range of boxes from
 * left to right, and so are the children of a box. Finding what is visible, what is under the
 * mouse and where a key leads is then a matter of two binary searches, however large the tree.
 */

/** A tree as the engine sends it: parents before children, siblings heaviest first, root at 0. */
export interface TreeColumns {
  readonly parent: Uint32Array;
  readonly entity: Uint32Array;
  readonly bytes: Float64Array;
  readonly blocks: Float32Array;
  /** Mean lifetime in seconds. */
  readonly lifetime: Float32Array;
  /** 1 where children were cut away because they are too light. */
  readonly more: Uint8Array;
}

/** The same columns, breadth first, with places. */
export interface Tree extends TreeColumns {
  readonly size: number;
  /** Where a box begins and ends, in bytes from the root's left edge. */
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** Children of box `i`: `firstChild[i]` up to `firstChild[i + 1]`. */
  readonly firstChild: Uint32Array;
  /** Boxes of row `d`: `rowStart[d]` up to `rowStart[d + 1]`. */
  readonly rowStart: Uint32Array;
  readonly rows: number;
  /** Where in the columns that came each box was. */
  readonly origin: Uint32Array;
}

/** Gives every box its place. Throws where a child stands before its parent. */
export function layOut(columns: TreeColumns): Tree {
  const size = columns.parent.length;
  const { order, place, firstChild } = breadthFirst(columns.parent);
  const parent = new Uint32Array(size);
  const entity = new Uint32Array(size);
  const bytes = new Float64Array(size);
  const blocks = new Float32Array(size);
  const lifetime = new Float32Array(size);
  const more = new Uint8Array(size);
  const left = new Float64Array(size);
  const right = new Float64Array(size);
  const rowStart: number[] = [0];
  let rowEnd = Math.min(1, size);
  for (let box = 0; box < size; box++) {
    if (box === rowEnd) {
      rowStart.push(box);
      rowEnd = firstChild[box]!;
    }
    const from = order[box]!;
    const above = place[columns.parent[from]!]!;
    parent[box] = above;
    entity[box] = columns.entity[from]!;
    bytes[box] = columns.bytes[from]!;
    blocks[box] = columns.blocks[from]!;
    lifetime[box] = columns.lifetime[from]!;
    more[box] = columns.more[from]!;
    if (box > 0) {
      left[box] = box === firstChild[above] ? left[above]! : right[box - 1]!;
    }
    right[box] = left[box]! + bytes[box]!;
  }
  rowStart.push(size);
  return {
    size,
    parent,
    entity,
    bytes,
    blocks,
    lifetime,
    more,
    left,
    right,
    firstChild,
    rowStart: Uint32Array.from(rowStart),
    rows: size === 0 ? 0 : rowStart.length - 1,
    origin: order,
  };
}

/** The boxes in breadth-first order; siblings stay in the order in which they came. */
function breadthFirst(parent: Uint32Array): {
  order: Uint32Array;
  place: Uint32Array;
  firstChild: Uint32Array;
} {
  const size = parent.length;
  const childStart = new Uint32Array(size + 1);
  for (let i = 1; i < size; i++) {
    if (parent[i]! >= i) {
      throw new Error(`box ${i} of the call tree stands before its parent ${parent[i]}`);
    }
    childStart[parent[i]! + 1]!++;
  }
  for (let i = 0; i < size; i++) {
    childStart[i + 1]! += childStart[i]!;
  }
  const next = childStart.slice(0, size);
  const children = new Uint32Array(size);
  for (let i = 1; i < size; i++) {
    children[next[parent[i]!]!++] = i;
  }
  const order = new Uint32Array(size);
  const place = new Uint32Array(size);
  const firstChild = new Uint32Array(size + 1);
  let end = Math.min(1, size);
  for (let box = 0; box < size; box++) {
    const from = order[box]!;
    firstChild[box] = end;
    for (let k = childStart[from]!; k < childStart[from + 1]!; k++) {
      order[end] = children[k]!;
      place[children[k]!] = end;
      end++;
    }
  }
  firstChild[size] = end;
  return { order, place, firstChild };
}

/** The row in which a box stands; the root's is 0. */
export function rowOf(tree: Tree, box: number): number {
  return lastAtMost(tree.rowStart, 0, tree.rows, box);
}

/** The box of a row that covers `at` (bytes from the left), or -1. */
export function boxAt(tree: Tree, row: number, at: number): number {
  if (row < 0 || row >= tree.rows) {
    return -1;
  }
  const box = lastAtMost(tree.left, tree.rowStart[row]!, tree.rowStart[row + 1]!, at);
  return box >= 0 && at < tree.right[box]! ? box : -1;
}

/** The first box of a row that ends to the right of `at`. */
export function firstBoxAfter(tree: Tree, row: number, at: number): number {
  const box = lastAtMost(tree.left, tree.rowStart[row]!, tree.rowStart[row + 1]!, at);
  if (box < 0) {
    return tree.rowStart[row]!;
  }
  return tree.right[box]! > at ? box : box + 1;
}

/** The boxes from the root down to `box`, both included. */
export function pathTo(tree: Tree, box: number): number[] {
  const path = [box];
  while (box !== 0) {
    box = tree.parent[box]!;
    path.push(box);
  }
  return path.reverse();
}

/** The box to which a path of entities leads, or -1: how a selection outlives a new answer. */
export function follow(tree: Tree, entities: ArrayLike<number>): number {
  if (tree.size === 0 || entities.length === 0 || tree.entity[0] !== entities[0]) {
    return -1;
  }
  let box = 0;
  for (let step = 1; step < entities.length; step++) {
    let child = tree.firstChild[box]!;
    const end = tree.firstChild[box + 1]!;
    while (child < end && tree.entity[child] !== entities[step]) {
      child++;
    }
    if (child === end) {
      return -1;
    }
    box = child;
  }
  return box;
}

/** The deepest box that covers a stretch of the width as a whole; the root covers everything. */
export function deepestCovering(tree: Tree, from: number, to: number): number {
  let box = 0;
  for (;;) {
    const end = tree.firstChild[box + 1]!;
    let child = tree.firstChild[box]!;
    while (child < end && !(tree.left[child]! <= from && tree.right[child]! >= to)) {
      child++;
    }
    if (child === end) {
      return box;
    }
    box = child;
  }
}

/** Whether a box or something below it has children that were cut away. */
export function isCut(tree: Tree, box: number): boolean {
  let from = box;
  let to = box + 1;
  while (from < to) {
    for (let i = from; i < to; i++) {
      if (tree.more[i] !== 0) {
        return true;
      }
    }
    [from, to] = [tree.firstChild[from]!, tree.firstChild[to]!];
  }
  return false;
}

/** The last index in `[from, to)` whose value is at most `limit`, or -1; values ascend. */
function lastAtMost(values: ArrayLike<number>, from: number, to: number, limit: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > from ? low - 1 : -1;
}
