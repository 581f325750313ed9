"""Cellular automata and agents, with arrays and with Python's lists."""

import numpy as np

from benchmarks.programs.record import program


def game_of_life(board, steps):
    for _ in range(steps):
        around = (
            board[:-2, :-2] + board[:-2, 1:-1] + board[:-2, 2:]
            + board[1:-1, :-2] + board[1:-1, 2:]
            + board[2:, :-2] + board[2:, 1:-1] + board[2:, 2:]
        )
        born = (around == 3) & (board[1:-1, 1:-1] == 0)
        stays = ((around == 2) | (around == 3)) & (board[1:-1, 1:-1] == 1)
        board[...] = 0
        board[1:-1, 1:-1][born | stays] = 1
    return board


def game_of_life_loops(board, steps):
    rows, columns = board.shape
    for _ in range(steps):
        new = np.zeros_like(board)
        for i in range(rows):
            for j in range(columns):
                count = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di != 0 or dj != 0:
                            count += board[(i + di) % rows, (j + dj) % columns]
                if count == 3 or (count == 2 and board[i, j] == 1):
                    new[i, j] = 1
        board = new
    return board


def elementary_automaton(cells, rule, steps):
    table = np.array([(rule >> k) & 1 for k in range(8)], dtype=np.uint8)
    history = np.empty((steps, len(cells)), dtype=np.uint8)
    for t in range(steps):
        history[t] = cells
        code = 4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)
        cells = table[code]
    return history


def forest_fire(forest, lightning, growth):
    """0: bare, 1: tree, 2: fire; random numbers are given for each step."""
    burnt = 0
    for t in range(lightning.shape[0]):
        fire = forest == 2
        near = np.zeros_like(fire)
        near[1:] |= fire[:-1]
        near[:-1] |= fire[1:]
        near[:, 1:] |= fire[:, :-1]
        near[:, :-1] |= fire[:, 1:]
        tree = forest == 1
        ignite = tree & (near | (lightning[t] < 0.0005))
        forest[fire] = 0
        forest[ignite] = 2
        forest[(forest == 0) & (growth[t] < 0.05)] = 1
        burnt += np.count_nonzero(ignite)
    return burnt


def sandpile(grid):
    """Piles of four and more topple until none is left."""
    topplings = 0
    while True:
        over = grid >= 4
        if not over.any():
            break
        amount = grid // 4
        grid -= 4 * amount
        grid[1:] += amount[:-1]
        grid[:-1] += amount[1:]
        grid[:, 1:] += amount[:, :-1]
        grid[:, :-1] += amount[:, 1:]
        topplings += int(amount.sum())
    return topplings


def epidemic_agents(position, state, draws, radius):
    """0: healthy, 1: ill, 2: recovered."""
    history = []
    for t in range(len(draws)):
        position = (position + draws[t, :, :2] - 0.5) % 20.0
        ill = np.flatnonzero(state == 1)
        for i in ill:
            close = ((position - position[i]) ** 2).sum(axis=1) < radius * radius
            state[close & (state == 0) & (draws[t, :, 2] < 0.5)] = 1
        state[ill[draws[t, ill, 2] > 0.9]] = 2
        history.append(np.bincount(state, minlength=3))
    return np.array(history)


def bank_queue(arrivals, service, counters):
    """Customers take the counter that is free first; waits are kept in a list."""
    free = [0.0] * counters
    waits = []
    for i in range(len(arrivals)):
        first = 0
        for k in range(1, counters):
            if free[k] < free[first]:
                first = k
        start = max(arrivals[i], free[first])
        waits.append(start - arrivals[i])
        free[first] = start + service[i]
    return np.array(waits), max(free)


def segregation(grid, moves, wanted):
    """Agents (1, 2) that like too few neighbours move to the empty place that is drawn."""
    n = grid.shape[0]
    happy = 0
    for k in range(len(moves)):
        i, j, x, y = moves[k]
        kind = grid[i, j]
        if kind == 0:
            continue
        alike = others = 0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di == 0 and dj == 0:
                    continue
                neighbour = grid[(i + di) % n, (j + dj) % n]
                if neighbour == kind:
                    alike += 1
                elif neighbour != 0:
                    others += 1
        if alike + others > 0 and alike / (alike + others) < wanted:
            if grid[x, y] == 0:
                grid[x, y] = kind
                grid[i, j] = 0
        else:
            happy += 1
    return happy


def breadth_first_distance(maze):
    """Steps from the corner to each open cell, -1 where there is no way."""
    rows, columns = maze.shape
    distance = np.full((rows, columns), -1, dtype=np.int64)
    distance[0, 0] = 0
    queue = [(0, 0)]
    head = 0
    while head < len(queue):
        i, j = queue[head]
        head += 1
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            x, y = i + di, j + dj
            if 0 <= x < rows and 0 <= y < columns and maze[x, y] == 0 and distance[x, y] < 0:
                distance[x, y] = distance[i, j] + 1
                queue.append((x, y))
    return distance


def langton_ant(grid, i, j, steps):
    n, m = grid.shape
    di, dj = -1, 0
    for _ in range(steps):
        if grid[i, j]:
            di, dj = -dj, di
        else:
            di, dj = dj, -di
        grid[i, j] = not grid[i, j]
        i = (i + di) % n
        j = (j + dj) % m
    return i, j


def _board(n, rng):
    return (rng.random((n, n)) < 0.3).astype(np.int64), 10


def _cells(n, rng):
    return rng.integers(0, 2, n, dtype=np.uint8), 110, 200


def _forest(n, rng):
    return rng.integers(0, 2, (n, n)), *rng.random((2, 20, n, n))


def _piles(n, rng):
    return (rng.integers(0, 8, (n, n)),)


def _crowd(n, rng):
    state = (rng.random(n) < 0.1).astype(np.int64)
    return rng.random((n, 2)) * 20.0, state, rng.random((15, n, 3)), 0.7


def _customers(n, rng):
    return rng.exponential(1.0, n).cumsum(), rng.exponential(3.5, n), 4


def _town(n, rng):
    return rng.integers(0, 3, (n, n)), rng.integers(0, n, (10 * n, 4)), 0.5


def _maze(n, rng):
    maze = (rng.random((n, n)) < 0.3).astype(np.int8)
    maze[0, 0] = 0
    return (maze,)


def _ant(n, rng):
    grid = rng.random((64, 64)) < 0.1
    return grid, 32, 32, n


program(game_of_life, _board, 30, 900, exact=True)
program(game_of_life_loops, lambda n, rng: (_board(n, rng)[0], 3), 10, 120, scalar=True,
        exact=True)
program(elementary_automaton, _cells, 60, 120_000, exact=True)
program(forest_fire, _forest, 20, 900, exact=True)
program(sandpile, _piles, 12, 100, exact=True)
program(epidemic_agents, _crowd, 40, 1000, exact=True)
program(bank_queue, _customers, 200, 200_000, scalar=True, exact=True)
program(segregation, _town, 20, 3000, scalar=True, exact=True)
program(breadth_first_distance, _maze, 20, 400, scalar=True, exact=True)
program(langton_ant, _ant, 500, 400_000, scalar=True, exact=True)
